import type { MouseEvent, ReactNode } from 'react';
import { API } from '../data/place.ts';
import { downloadAddress } from '../data/session.ts';

interface DownloadLinkProps {
  /** Of the API, without the query. */
  path: string;
  /** With its question mark; may be empty. */
  query: string;
  /** The name of the file; without it, the text is shown in a new tab. */
  file?: string;
  children: ReactNode;
}

/** A link to text of the API. Its ticket is fetched when it is clicked, since it is valid for a minute. */
export function DownloadLink({ path, query, file, children }: DownloadLinkProps) {
  const follow = async (event: MouseEvent): Promise<void> => {
    event.preventDefault();
    const link = document.createElement('a');
    link.href = await downloadAddress(path, query);
    if (file === undefined) Object.assign(link, { target: '_blank', rel: 'noreferrer' });
    else link.download = file;
    link.click();
  };
  return (
    <a className="button small" href={API + path + query} onClick={(event) => void follow(event)}>
      {children}
    </a>
  );
}
