import type { JobDetail } from '../../../../src/api/job.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { visibleText } from '../../words/visible-text.ts';

/** What the job runs, under its title. */
export function CommandLine({ job: { command, handler } }: { job: Pick<JobDetail, 'command' | 'handler'> }) {
  const text = command ?? handler;
  if (text === null) return null;
  return (
    <div className="command-box">
      <span className="command-kind faint" aria-hidden="true">
        {command === null ? 'handler' : '$'}
      </span>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long command scrolls */}
      <pre tabIndex={0} aria-label={command === null ? 'Handler' : 'Command'}>
        {visibleText(text)}
      </pre>
      <CopyButton text={text} label="Copy" />
    </div>
  );
}
