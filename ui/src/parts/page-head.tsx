import { type ReactNode, useEffect } from 'react';

/** The head of a screen: its title, and its actions as children. */
export function PageHead({ title, children, sub }: { title: ReactNode; children?: ReactNode; sub?: ReactNode }) {
  return (
    <header className="page-head">
      <div className="page-title">
        <h1>{title}</h1>
        {sub}
      </div>
      {children !== undefined && <div className="actions">{children}</div>}
    </header>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Workron`;
  }, [title]);
}
