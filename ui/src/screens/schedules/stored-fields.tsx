import type { DefinitionDetail } from '../../../../src/api/workflow/stored.ts';
import { allDefinitions, LATEST, readDefinition } from '../../data/definitions.ts';
import { useLive } from '../../data/use-live.ts';
import { useMay } from '../../data/use-may.ts';
import { ParamFields } from '../../parts/param-fields.tsx';
import { messageOf } from '../../words/message-of.ts';
import type { Fields } from './schedule-fields.ts';
import type { FieldsProps } from './when-fields.tsx';

/** The chosen version of the stored workflow; no data until one is chosen and read. */
export function useStored({ target, stored: { name, version } }: Fields) {
  return useLive({
    key: ['definition', name, version],
    about: { topics: [] },
    enabled: target === 'stored' && name !== '',
    keep: true,
    fetch: (signal) => readDefinition(name, signal, version),
  });
}

interface StoredFieldsProps extends FieldsProps {
  definition: DefinitionDetail | undefined;
  error: Error | null;
}

/** Which stored workflow runs, in which version, with which values of its parameters. */
export function StoredFields({ fields: { stored }, onChange, definition, error }: StoredFieldsProps) {
  const may = useMay();
  const all = useLive({ key: ['all-definitions'], about: { topics: [] }, fetch: allDefinitions });
  const change = (some: Partial<Fields['stored']>): void => onChange({ stored: { ...stored, ...some } });
  const offered = (all.data?.items ?? []).filter(
    ({ name, queues }) => name === stored.name || may('submit', ...queues),
  );
  if (all.data !== undefined && offered.length === 0) {
    return (
      <p className="muted">
        No workflow is stored yet. Store one on the screen Workflows, or with <code>workron apply</code>.
      </p>
    );
  }
  return (
    <>
      <div className="field-grid">
        <label className="field">
          <span>Workflow</span>
          <select
            name="stored"
            required
            value={stored.name}
            onChange={(event) => change({ name: event.target.value, version: LATEST })}
          >
            <option value="">choose</option>
            {offered.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        {definition !== undefined && (
          <label className="field">
            <span>Version</span>
            <select name="version" value={stored.version} onChange={(event) => change({ version: event.target.value })}>
              <Versions definition={definition} />
            </select>
          </label>
        )}
      </div>
      <p className="problem-text" role="alert">
        {(all.error ?? error) === null ? null : messageOf(all.error ?? error)}
      </p>
      {definition !== undefined && (
        <ParamFields params={definition.params} values={stored.params} onChange={(params) => change({ params })} />
      )}
    </>
  );
}

function Versions({ definition: { versions } }: { definition: DefinitionDetail }) {
  return (
    <>
      <option value={LATEST}>latest ({versions[0]?.version} now)</option>
      {versions.map(({ version }) => (
        <option key={version} value={String(version)}>
          {version}
        </option>
      ))}
    </>
  );
}
