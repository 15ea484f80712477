import { type FormEvent, useState } from 'react';
import { logIn } from '../data/session.ts';
import { useTitle } from '../parts/page-head.tsx';
import { messageOf } from '../words/message-of.ts';

/** Asks for the token. Nothing else is shown before. */
export function Login({ onIn }: { onIn: () => void }) {
  useTitle('Log in');
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      await logIn(token.trim());
      onIn();
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <main className="login">
      <form className="card stack" onSubmit={(event) => void submit(event)}>
        <h1>Workron</h1>
        <p className="muted">
          Paste an access token. On the machine of the server, <code>workron open</code> logs you in without one.
        </p>
        <label className="field">
          <span>Token</span>
          <input
            type="password"
            name="token"
            autoComplete="current-password"
            // biome-ignore lint/a11y/noAutofocus: the only field of the screen
            autoFocus
            value={token}
            aria-invalid={problem !== null}
            aria-describedby="login-problem"
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        <p id="login-problem" className="problem-text" role="alert">
          {problem}
        </p>
        <button type="submit" className="primary" disabled={token.trim() === ''}>
          Log in
        </button>
      </form>
    </main>
  );
}
