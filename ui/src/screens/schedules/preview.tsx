import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { SchedulePreview } from '../../../../src/api/schedule-preview.ts';
import { client } from '../../data/client.ts';
import { useLater } from '../../data/use-later.ts';
import { useNow } from '../../data/use-now.ts';
import { relativeText } from '../../words/duration.ts';
import { dayText } from '../../words/instant.ts';
import { messageOf } from '../../words/message-of.ts';

/** The zone of the viewer, in which all times are shown. */
const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;

interface PreviewProps {
  kind: 'cron' | 'every';
  text: string;
  timezone: string;
  /** The end of the schedule. */
  until?: string | null;
}

function ticksUntil({ items }: SchedulePreview, until: string | null): SchedulePreview['items'] {
  return until === null ? items : items.filter(({ utc }) => Date.parse(utc) < Date.parse(until));
}

/** The expression in words and the next ten ticks, updated while typing. Clock changes are marked. */
export function Preview({ kind, text, timezone, until = null }: PreviewProps) {
  const wanted = useLater(JSON.stringify({ kind, text: text.trim(), timezone: timezone.trim() }));
  const now = useNow();
  const preview = useQuery({
    queryKey: ['preview', wanted],
    retry: false,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<SchedulePreview | null> => {
      const { kind: chosen, text: expression, timezone: zone } = JSON.parse(wanted) as Record<string, string>;
      if (expression === '') return null;
      const base = zone === '' ? {} : { timezone: zone ?? 'UTC' };
      return client.previewSchedule(
        chosen === 'cron' ? { cron: expression ?? '', ...base } : { every: expression ?? '', ...base },
        { signal },
      );
    },
  });
  if (preview.error !== null) {
    return (
      <p className="problem-text" id="schedule-preview">
        {messageOf(preview.error)}
      </p>
    );
  }
  if (preview.data == null)
    return (
      <p className="faint" id="schedule-preview">
        The next runs appear here.
      </p>
    );
  return (
    <div className="preview" id="schedule-preview">
      <p className="preview-words">
        {preview.data.description ?? `every ${text}`} <span className="faint">({preview.data.timezone})</span>
      </p>
      {preview.data.timezone !== HERE && <p className="faint small-text">In your time zone, {HERE}:</p>}
      <ol aria-label="Next runs">
        {ticksUntil(preview.data, until).map(({ utc, local, note }) => (
          <li key={utc}>
            <time dateTime={utc} title={`${local.replace('T', ' ')} (${preview.data?.timezone})`}>
              {dayText(Date.parse(utc))}
            </time>
            <span className="faint">{relativeText(Date.parse(utc), now)}</span>
            {note !== null && <span className="badge tone-amber">⚠ {note}</span>}
          </li>
        ))}
      </ol>
    </div>
  );
}
