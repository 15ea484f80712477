import type { Job } from '../../../src/api/job.ts';
import { visibleLine } from '../words/visible-text.ts';

/** The progress that a running job has reported: a bar, and its text unless `bare`. */
export function Progress({ job, bare = false }: { job: Pick<Job, 'status' | 'progress'>; bare?: boolean }) {
  if (job.progress === null || job.status !== 'running') return null;
  const { fraction, text } = job.progress;
  const percent = Math.round(fraction * 100);
  const words = text === null ? '' : visibleLine(text);
  return (
    <span className="progress" title={words === '' ? `${percent} %` : `${percent} %: ${words}`}>
      <span
        className="progress-track"
        role="progressbar"
        aria-label="Progress"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        aria-valuetext={words === '' ? `${percent} %` : `${percent} %, ${words}`}
      >
        <span className="progress-bar" style={{ width: `${percent}%` }} />
      </span>
      <span className="progress-percent">{percent} %</span>
      {!bare && words !== '' && <span className="progress-text">{words}</span>}
    </span>
  );
}
