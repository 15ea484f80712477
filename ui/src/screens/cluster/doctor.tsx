import { useQuery } from '@tanstack/react-query';
import type { Finding } from '../../../../src/api/doctor.ts';
import { client } from '../../data/client.ts';
import { Listing } from '../../parts/listing.tsx';
import { Loading, Problem } from '../../parts/notes.tsx';
import { State } from '../../parts/state.tsx';
import { visibleLine } from '../../words/visible-text.ts';

const WORST_FIRST = ['bad', 'warning', 'ok'];

/** What `workron doctor` says of the machine that answers, and of the store. */
export function Doctor() {
  const doctor = useQuery({
    queryKey: ['doctor'],
    queryFn: ({ signal }) => client.readDoctor({ signal }).then(({ items }) => items),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <>
      <h2>Doctor</h2>
      {doctor.error !== null && <Problem error={doctor.error} onRetry={() => void doctor.refetch()} />}
      {doctor.data === undefined ? (
        doctor.error === null && <Loading />
      ) : (
        <>
          <Listing title="Findings of the doctor" columns={['State', 'Check', 'Found', 'What to do']}>
            {worstFirst(doctor.data).map(({ check, state, detail, advice }) => (
              <tr key={`${check} ${detail}`} className={state === 'bad' ? 'row-bad' : undefined}>
                <td>
                  <State of={state} />
                </td>
                <th scope="row">{check}</th>
                <td data-label="Found">{visibleLine(detail)}</td>
                {advice === null ? <td /> : <td data-label="What to do">{visibleLine(advice)}</td>}
              </tr>
            ))}
          </Listing>
          <p>
            <button type="button" disabled={doctor.isFetching} onClick={() => void doctor.refetch()}>
              Check again
            </button>
          </p>
        </>
      )}
    </>
  );
}

function worstFirst(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => WORST_FIRST.indexOf(a.state) - WORST_FIRST.indexOf(b.state));
}
