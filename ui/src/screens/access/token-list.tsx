import { useState } from 'react';
import type { MadeToken, Token } from '../../../../src/api/token.ts';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { useLive } from '../../data/use-live.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { ACTIONS, Listing } from '../../parts/listing.tsx';
import { Empty, Loading, Problem } from '../../parts/notes.tsx';
import { When } from '../../parts/when.tsx';
import { workron } from '../../words/as-command.ts';
import { MadeTokenDialog } from './made-token.tsx';
import { NewToken } from './new-token.tsx';
import { RotateToken } from './rotate-token.tsx';

type Opened = { making: true } | { rotate: string } | { revoke: string } | { made: MadeToken } | null;

/** The tokens: make one, rotate, revoke. The text of a token is shown once. */
export function TokenList({ own }: { own: string }) {
  const [opened, setOpened] = useState<Opened>(null);
  const list = useLive({
    key: ['tokens'],
    about: { topics: [] },
    everyMs: 15_000,
    fetch: (signal) => Array.fromAsync(client.listTokens({ signal })),
  });
  const close = (): void => setOpened(null);
  const show = (made: MadeToken): void => {
    setOpened({ made });
    void list.refetch();
  };
  return (
    <div className="stack">
      <div className="filter-line filter-line-middle">
        <p className="muted">Give each person and program a token; its role says what it may do.</p>
        <span className="spacer" />
        <button type="button" className="primary" onClick={() => setOpened({ making: true })}>
          New token
        </button>
      </div>
      {list.error !== null && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {list.data === undefined ? (
        list.error === null && <Loading />
      ) : list.data.length === 0 ? (
        <Empty title="No tokens yet">
          <p>Only the server's own token works.</p>
          <CopyLine label="Or in a terminal" text={workron('tokens create ci --role submitter --expires 90d')} />
        </Empty>
      ) : (
        <TokenTable
          tokens={list.data}
          onRotate={(name) => setOpened({ rotate: name })}
          onRevoke={(name) => setOpened({ revoke: name })}
        />
      )}
      {opened !== null && 'making' in opened && <NewToken onMade={show} onClose={close} />}
      {opened !== null && 'rotate' in opened && <RotateToken name={opened.rotate} onMade={show} onClose={close} />}
      {opened !== null && 'made' in opened && <MadeTokenDialog made={opened.made} onClose={close} />}
      {opened !== null && 'revoke' in opened && (
        <RevokeToken name={opened.revoke} own={own} onDone={() => void list.refetch()} onClose={close} />
      )}
    </div>
  );
}

interface RevokeTokenProps {
  name: string;
  own: string;
  onDone: () => void;
  onClose: () => void;
}

function RevokeToken({ name, own, onDone, onClose }: RevokeTokenProps) {
  const revoke = useAction({
    run: () => client.revokeToken(name),
    done: () => `Token ${name} is revoked`,
    after: onDone,
  });
  return (
    <Confirm
      title={`Revoke ${name}?`}
      verb="Revoke"
      danger
      cli={workron(`tokens revoke ${name}`)}
      onConfirm={() => revoke.run()}
      onClose={onClose}
    >
      <p>
        Within seconds, every scheduler refuses it, and sessions that were opened with it end.
        {name === own && ' It is the token that you are logged in with.'}
      </p>
    </Confirm>
  );
}

interface TokenTableProps {
  tokens: readonly Token[];
  onRotate: (name: string) => void;
  onRevoke: (name: string) => void;
}

function TokenTable({ tokens, onRotate, onRevoke }: TokenTableProps) {
  const sorted = [...tokens.filter(({ valid }) => valid), ...tokens.filter(({ valid }) => !valid)];
  return (
    <Listing title="Tokens" columns={['Name', 'Role', 'Queues', 'Created', 'Expires', 'Last used', ACTIONS]}>
      {sorted.map((token) => (
        <TokenRow key={token.id} token={token} onRotate={onRotate} onRevoke={onRevoke} />
      ))}
    </Listing>
  );
}

function TokenRow({ token, onRotate, onRevoke }: { token: Token } & Omit<TokenTableProps, 'tokens'>) {
  const { name, valid, replaced_at } = token;
  return (
    <tr>
      <th scope="row">
        {name} {!valid && <span className="badge">{token.revoked_at === null ? 'expired' : 'revoked'}</span>}
        {valid && replaced_at !== null && <span className="badge tone-amber">replaced</span>}
      </th>
      <td data-label="Role">{token.role}</td>
      <td data-label="Queues">{token.queues === null ? 'all' : <bdi>{token.queues.join(', ')}</bdi>}</td>
      <td data-label="Created">
        <When at={token.created_at} /> <span className="faint">by {token.created_by}</span>
      </td>
      <td data-label="Expires">
        {token.expires_at === null ? <span className="faint">never</span> : <When at={token.expires_at} />}
      </td>
      <td data-label="Last used">
        {token.last_used_at === null ? <span className="faint">never</span> : <When at={token.last_used_at} />}
      </td>
      <td className="row-actions">
        {valid && replaced_at === null && (
          <>
            <button type="button" className="small" onClick={() => onRotate(name)}>
              Rotate…<span className="visually-hidden"> {name}</span>
            </button>
            <button type="button" className="small" onClick={() => onRevoke(name)}>
              Revoke…<span className="visually-hidden"> {name}</span>
            </button>
          </>
        )}
      </td>
    </tr>
  );
}
