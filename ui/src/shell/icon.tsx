/** Icons of the menu and of the search. */

const PATHS: Readonly<Record<string, string>> = {
  overview: 'M3 10l7-6 7 6v7h-5v-5H8v5H3z',
  jobs: 'M3 5h14M3 10h14M3 15h9',
  workflows: 'M4 4h4v4H4zM12 12h4v4h-4zM12 4h4v4h-4zM8 6h4M6 8v6h6',
  schedules: 'M10 3a7 7 0 100 14 7 7 0 000-14zM10 6v4l3 2',
  queues: 'M3 4h14v3H3zM3 9h14v3H3zM3 14h14v3H3z',
  workers: 'M4 4h12v8H4zM2 16h16M8 12v4M12 12v4',
  cluster: 'M10 3v4M10 7l-5 6M10 7l5 6M8 3h4v4H8zM3 13h4v4H3zM13 13h4v4h-4z',
  search: 'M9 3a6 6 0 100 12 6 6 0 000-12zM13.500 13.500L17 17',
  access: 'M13 3a4 4 0 11-3 6.6L4 15.600V17H7V15H9V13L10.400 11.600',
};

export function Icon({ name }: { name: string }) {
  return (
    <svg className="icon" viewBox="0 0 20 20" width="17" height="17" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
