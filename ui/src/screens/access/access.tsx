import { useSearchParams } from 'wouter';
import { useMay, useSession } from '../../data/use-may.ts';
import { Empty, Loading } from '../../parts/notes.tsx';
import { PageHead, useTitle } from '../../parts/page-head.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { loginText, visibleLine } from '../../words/visible-text.ts';
import { AuditList } from './audit-list.tsx';
import { TokenList } from './token-list.tsx';

/** Who may use the installation, and who changed what. */
export function Access() {
  useTitle('Access');
  const [search, setSearch] = useSearchParams();
  const session = useSession();
  const may = useMay();
  if (session === undefined) return <Loading />;
  if (!may('admin')) {
    return (
      <Empty alone title="Only administrators see this">
        <p>
          You are logged in as <bdi>{visibleLine(session.name)}</bdi>. Tokens and the audit need the role admin.
        </p>
      </Empty>
    );
  }
  return (
    <section className="screen">
      <PageHead
        title="Access"
        sub={
          <span className="faint">
            <bdi>{loginText(session.name)}</bdi>
          </span>
        }
      />
      <Tabs
        label="Access"
        tabs={[
          { key: 'tokens', label: 'Tokens', content: () => <TokenList own={session.name} /> },
          { key: 'audit', label: 'Audit', content: () => <AuditList /> },
        ]}
        chosen={search.get('tab') ?? 'tokens'}
        onChoose={(tab) => setSearch(tab === 'tokens' ? {} : { tab }, { replace: true })}
      />
    </section>
  );
}
