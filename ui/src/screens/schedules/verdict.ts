/** Verdicts in words, with the icon and colour of a similar state. */

import type { Tick } from '../../../../src/api/tick.ts';
import { countText } from '../../words/count.ts';
import { durationText } from '../../words/duration.ts';
import { exactInstant } from '../../words/instant.ts';

export const VERDICTS: Readonly<Record<Tick['verdict'], { icon: string; tone: string; words: string }>> = {
  ran: { icon: '✓', tone: 'green', words: 'ran' },
  skipped_overlap: { icon: '↷', tone: 'amber', words: 'skipped: an earlier run had not ended' },
  missed: { icon: '✗', tone: 'red', words: 'missed: nobody was there, and it was too late to catch up' },
  dropped: { icon: '⊘', tone: 'violet', words: 'dropped: more were missed than are caught up' },
  paused: { icon: '❚❚', tone: 'grey', words: 'paused' },
};

/** One sentence about a tick: time, count, verdict, lateness. */
export function tickSentence(tick: Tick): string {
  const when = exactInstant(Date.parse(tick.scheduled_for));
  const many =
    tick.count === 1
      ? ''
      : ` and ${countText(tick.count - 1, 'more', 'more')} to ${exactInstant(Date.parse(tick.through))}`;
  const kind = tick.kind === 'tick' ? '' : tick.kind === 'manual' ? ' by hand' : ' as a backfill';
  const late = tick.lateness === null || tick.lateness < 1_000 ? '' : `, ${durationText(tick.lateness)} late`;
  const key = tick.key === null ? '' : ` for ${tick.key}`;
  return `${when}${many}${key}: ${VERDICTS[tick.verdict].words}${kind}${late}`;
}
