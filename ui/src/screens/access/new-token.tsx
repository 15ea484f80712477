import { type FormEvent, useState } from 'react';
import { ROLE_SCOPES } from '../../../../src/api/route.ts';
import type { MadeToken, TokenSubmissionInput } from '../../../../src/api/token.ts';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { shellQuote, workron } from '../../words/as-command.ts';

type Role = TokenSubmissionInput['role'];

const MEANINGS: Readonly<Record<Role, string>> = {
  viewer: 'reads everything',
  submitter: 'reads; submits jobs and workflows, changes schedules',
  operator: 'also cancels, retries and edits jobs, pauses queues, drains workers',
  admin: 'everything, also tokens, secrets and the audit',
  worker: 'claims jobs and reports on them; reads nothing else',
};
const QUEUE_ROLES: readonly Role[] = ['submitter', 'worker'];

const LIVES = [
  ['30d', 'after 30 days'],
  ['90d', 'after 90 days'],
  ['365d', 'after a year'],
  ['', 'never'],
] as const;

/** A form for a token. */
export function NewToken({ onMade, onClose }: { onMade: (made: MadeToken) => void; onClose: () => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('submitter');
  const [queues, setQueues] = useState('');
  const [expires, setExpires] = useState<string>('90d');
  const only = QUEUE_ROLES.includes(role) ? namesIn(queues) : [];
  const create = useAction({
    run: () =>
      client.createToken({
        name: name.trim(),
        role,
        ...(only.length > 0 && { queues: only }),
        ...(expires !== '' && { expires }),
      }),
    done: () => null,
    after: onMade,
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.run();
  };
  return (
    <Dialog title="New token" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <label className="field">
          <span>Name of the person or program</span>
          <input value={name} autoComplete="off" placeholder="ci" onChange={(event) => setName(event.target.value)} />
        </label>
        <RoleField role={role} onChange={setRole} />
        {QUEUE_ROLES.includes(role) && (
          <label className="field">
            <span>Queues that it may use, separated by commas; empty for all</span>
            <input value={queues} autoComplete="off" onChange={(event) => setQueues(event.target.value)} />
          </label>
        )}
        <label className="field">
          <span>Expires</span>
          <select value={expires} onChange={(event) => setExpires(event.target.value)}>
            {LIVES.map(([life, title]) => (
              <option key={life} value={life}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <CopyLine label="CLI command" text={commandOf({ name: name.trim(), role, only, expires })} />
        <div className="dialog-actions">
          <button type="submit" className="primary" disabled={create.running || name.trim() === ''}>
            Create token
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function RoleField({ role, onChange }: { role: Role; onChange: (role: Role) => void }) {
  return (
    <>
      <label className="field">
        <span>Role</span>
        <select value={role} onChange={(event) => onChange(event.target.value as Role)}>
          {Object.keys(ROLE_SCOPES).map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <p className="muted small-text">
        {role}: {MEANINGS[role]}
      </p>
    </>
  );
}

function namesIn(text: string): string[] {
  const names = text.split(',').map((each) => each.trim());
  return names.filter((each) => each !== '');
}

function commandOf({ name, role, only, expires }: { name: string; role: Role; only: string[]; expires: string }) {
  const queues = only.length === 0 ? '' : ` --queues ${shellQuote(only.join(','))}`;
  const life = expires === '' ? '' : ` --expires ${expires}`;
  return workron(`tokens create ${shellQuote(name || 'NAME')} --role ${role}${queues}${life}`);
}
