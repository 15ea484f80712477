import type { ReactNode } from 'react';

/** A table that scrolls sideways on a narrow screen; its rows are the children. */
export function Listing({
  title,
  columns,
  children,
}: {
  title: string;
  columns: readonly string[];
  children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it can be scrolled without a mouse
    <div className="table-frame" role="region" aria-label={title} tabIndex={0}>
      <table className="table">
        <caption className="visually-hidden">{title}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
