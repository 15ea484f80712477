/**
 * Records random sequences with the memory store's answers, for recorded.test.ts.
 *
 *   node test/store/model/record.ts
 *
 * The recorded answers are those that every store must give. So record again only what is meant to differ.
 */

import fc from 'fast-check';
import { openTestMemory } from '../../../contract/kit/memory.ts';
import { comparable, digestsOf, gatherProperties, type RecordedSequence, writeRecording } from './recorded.ts';
import { sequencesOf, traceOf } from './trace.ts';

const SEQUENCES = 2_000;
/** The number of sequences whose answers are kept as they are. */
const IN_FULL = 10;
const LENGTH = 40;
const SEED = 1;

const properties = new Set<string>();
const wanted = fc.sample(sequencesOf(LENGTH), { numRuns: SEQUENCES, seed: SEED, unbiased: true });
for (const actions of wanted) gatherProperties(await traceOf(openTestMemory, actions), properties);
const sequences: RecordedSequence[] = [];
for (const actions of wanted) {
  const trace = comparable(await traceOf(openTestMemory, actions), properties);
  sequences.push({ actions, trace: sequences.length < IN_FULL ? trace : digestsOf(trace) });
}
writeRecording({ properties: [...properties].sort(), sequences });
