import { type ReactNode, useId } from 'react';

export interface Tab {
  key: string;
  label: ReactNode;
  content: () => ReactNode;
}

/** One of several panels. The caller keeps the choice, for example in the address. */
export function Tabs({
  tabs,
  chosen,
  onChoose,
  label,
}: {
  tabs: readonly Tab[];
  chosen: string;
  onChoose: (key: string) => void;
  label: string;
}) {
  const id = useId();
  const current = tabs.find(({ key }) => key === chosen) ?? tabs[0];
  const move = (by: number): void => {
    const index = tabs.findIndex(({ key }) => key === current?.key);
    const next = tabs[(index + by + tabs.length) % tabs.length];
    if (next === undefined) return;
    onChoose(next.key);
    document.getElementById(`${id}-${next.key}`)?.focus();
  };
  return (
    <div className="tabs">
      <div
        role="tablist"
        aria-label={label}
        className="tab-list"
        onKeyDown={(event) => {
          if (event.key === 'ArrowRight') move(1);
          if (event.key === 'ArrowLeft') move(-1);
        }}
      >
        {tabs.map(({ key, label: text }) => (
          <button
            key={key}
            id={`${id}-${key}`}
            type="button"
            role="tab"
            aria-selected={key === current?.key}
            aria-controls={`${id}-panel`}
            tabIndex={key === current?.key ? 0 : -1}
            onClick={() => onChoose(key)}
          >
            {text}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${current?.key}`} className="tab-panel">
        {current?.content()}
      </div>
    </div>
  );
}
