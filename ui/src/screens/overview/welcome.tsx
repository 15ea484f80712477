import { useLocation } from 'wouter';
import { CopyLine } from '../../parts/copy.tsx';
import { May } from '../../parts/may.tsx';
import { useTitle } from '../../parts/page-head.tsx';
import { JobForm } from '../../shell/job-form.tsx';
import { asCurl, SAMPLE_WORKFLOW, workron } from '../../words/as-command.ts';

/** The first visit: a form and lines for the terminal, all of which work. */
export function Welcome() {
  useTitle('Welcome');
  const [, go] = useLocation();
  return (
    <section className="screen welcome">
      <h1>Welcome to Workron</h1>
      <p className="muted">No job has been submitted yet. Run a command here or in a terminal; it appears by itself.</p>
      <div className="welcome-grid">
        <May scope="submit">
          <section className="card" aria-labelledby="try-here">
            <h2 id="try-here">Try it here</h2>
            <JobForm
              short
              start={{ command: 'for i in 1 2 3; do echo "hello $i"; sleep 1; done' }}
              verb="Run"
              onDone={(job) => go(`/jobs/${job.id}`)}
            />
          </section>
        </May>
        <section className="card stack" aria-labelledby="try-there">
          <h2 id="try-there">From a terminal</h2>
          <CopyLine label="With curl" text={asCurl({ command: 'echo hello' })} />
          <CopyLine label="With the command line" text={workron('run', "-- 'echo hello'")} />
          <CopyLine label="A workflow" text={SAMPLE_WORKFLOW} />
          <CopyLine label="Every 15 minutes" text={workron('schedule add heartbeat --every 15m', "-- 'echo alive'")} />
        </section>
      </div>
    </section>
  );
}
