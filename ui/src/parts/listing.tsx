import type { ReactNode } from 'react';

/** A column by its title. `num` has numbers, at the right; `hidden` has a title for screen readers only. */
type Column = string | { title: string; num?: true; hidden?: true };

/** The column of the buttons of a row. */
export const ACTIONS: Column = { title: 'Actions', hidden: true };

interface ListingProps {
  title: string;
  columns: readonly Column[];
  /** Further classes of the table. */
  className?: string;
  /** The rows. */
  children: ReactNode;
}

/** A table that scrolls sideways where there is no room for it. On a phone, each row is a card. */
export function Listing({ title, columns, className = '', children }: ListingProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it can be scrolled without a mouse
    <div className="table-frame" role="region" aria-label={title} tabIndex={0}>
      <table className={`table ${className}`.trim()}>
        <caption className="visually-hidden">{title}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={typeof column === 'string' ? column : column.title} column={column} />
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function Head({ column }: { column: Column }) {
  const { title, num, hidden } = typeof column === 'string' ? { title: column } : column;
  return (
    <th scope="col" className={num && 'num'}>
      {hidden ? <span className="visually-hidden">{title}</span> : title}
    </th>
  );
}
