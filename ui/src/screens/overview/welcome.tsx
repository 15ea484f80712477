import { useLocation } from 'wouter';
import { API_URL } from '../../data/place.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { useTitle } from '../../parts/page-head.tsx';
import { JobForm } from '../../shell/job-form.tsx';
import { asCurl } from '../../words/as-command.ts';

/** The first visit: a form and a line for the terminal, both of which work. */
export function Welcome() {
  useTitle('Welcome');
  const [, go] = useLocation();
  return (
    <section className="screen welcome">
      <h1>Welcome to Workron</h1>
      <p className="muted">
        Nothing has been submitted yet. Run a command from here, or from a terminal: it appears by itself.
      </p>
      <div className="welcome-grid">
        <section className="card" aria-labelledby="try-here">
          <h2 id="try-here">Here</h2>
          <JobForm
            short
            start={{ command: 'for i in 1 2 3; do echo "hello $i"; sleep 1; done' }}
            verb="Run it"
            onDone={(job) => go(`/jobs/${job.id}`)}
          />
        </section>
        <section className="card stack" aria-labelledby="try-there">
          <h2 id="try-there">From a terminal</h2>
          <CopyLine label="With curl" text={asCurl({ command: 'echo hello' }, API_URL)} />
          <CopyLine label="With the command line" text="./bin/workron run -- 'echo hello'" />
          <CopyLine label="A workflow" text="./bin/workron workflow run examples/build-test-deploy.yaml --follow" />
        </section>
      </div>
    </section>
  );
}
