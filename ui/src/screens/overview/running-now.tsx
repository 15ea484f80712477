import { Link } from 'wouter';
import { NowRunning } from '../workers/now-running.tsx';

export function RunningNow() {
  return (
    <section className="card" aria-labelledby="running-now">
      <header className="card-head">
        <h2 id="running-now">Running now</h2>
        <Link href="/jobs?status=running">All running</Link>
      </header>
      <NowRunning />
    </section>
  );
}
