/** The filter that chooses jobs for a list or a bulk operation. */

import { z } from 'zod';
import { REASONS, STATUSES, type Status } from '../core/job.ts';
import type { JobFilter as DomainJobFilter } from '../core/job-filter.ts';
import { invalid } from './decode.ts';
import { idPageQuery, instantOrAgo, label, resolveInstant, storeId, text, toInstant } from './fields.ts';
import { fieldsOfText } from './job-query.ts';
import { queueName } from './job-submission.ts';
import { named, strict } from './schemas.ts';

const statusList = z
  .union([z.string(), z.array(z.string())])
  .meta({ examples: ['failed', 'failed,cancelled'], description: `Comma list of ${STATUSES.join(', ')}.` })
  .transform((value, context): Status[] => {
    const words = (Array.isArray(value) ? value : [value]).flatMap((part) => part.split(','));
    const unknown = words.find((word) => !(STATUSES as readonly string[]).includes(word));
    if (unknown === undefined) return words as Status[];
    context.issues.push({
      code: 'custom',
      message: `unknown status ${JSON.stringify(unknown)}; expected ${STATUSES.join(', ')}`,
      input: value,
    });
    return z.NEVER;
  });

const oneOrMore = z
  .union([label(128), z.array(label(128)).max(64)])
  .transform((value) => (Array.isArray(value) ? value : [value]));

const filterShape = {
  status: statusList.exactOptional(),
  queue: queueName.exactOptional(),
  name: label(256).exactOptional(),
  unique_key: label(512).meta({ description: 'Jobs submitted with this unique key.' }).exactOptional(),
  submitted_by: label(256)
    .meta({
      description:
        'Jobs that this caller submitted, such as the name of a token. Lists search the newest 100,000 jobs, bulk operations all.',
    })
    .exactOptional(),
  tag: oneOrMore.meta({ description: 'Jobs that have all of these tags.' }).exactOptional(),
  worker_id: storeId.exactOptional(),
  reason: z.enum(REASONS).exactOptional(),
  workflow_id: storeId.meta({ description: 'Steps of this workflow, and their items.' }).exactOptional(),
  group_id: storeId.meta({ description: 'Items of this for_each step, by the id of its job.' }).exactOptional(),
  parent_id: storeId.meta({ description: 'Jobs that depend on this one.' }).exactOptional(),
  from: instantOrAgo.exactOptional(),
  to: instantOrAgo.exactOptional(),
  q: text(256)
    .meta({
      description:
        'Part of name, command, input or error; case is ignored. Lists search the newest 100,000 jobs, bulk operations all.',
    })
    .exactOptional(),
  error: text(256)
    .meta({
      description: 'Part of the error; case is ignored. Lists search the newest 100,000 jobs, bulk operations all.',
    })
    .exactOptional(),
};

const idList = z
  .string()
  .meta({ examples: ['12,13'], description: 'Only these, separated by commas; at most 200.' })
  .transform((value, context): number[] => {
    const ids = value.split(',').map((part) => storeId.safeParse(part).data);
    if (ids.length <= 200 && ids.every((id) => id !== undefined)) return ids;
    context.issues.push({ code: 'custom', message: 'expected at most 200 ids such as "12,13"', input: value });
    return z.NEVER;
  });

const fields = z.object({ ...filterShape, ids: idList.exactOptional() });

/** The typed filter. Decodes to the fields that it sets. */
const query = label(1_024)
  .meta({
    description:
      'The filter as one text: keys with values, and words to search for, such as queue:mail status:failed error:"503". It adds to the other fields.',
    examples: ['tag:eu'],
  })
  .transform((value, context): Partial<z.output<typeof fields>> => {
    const decoded = fieldsOfText(value, (field, one) => {
      const result = fields.shape[field as keyof typeof fields.shape].safeParse(one);
      return result.success ? { data: result.data } : { message: result.error.issues[0]?.message ?? 'not valid' };
    });
    if ('fields' in decoded) return decoded.fields;
    context.issues.push({ code: 'custom', message: decoded.message, input: value });
    return z.NEVER;
  });

/** Times mean `created_at`; `from` is inclusive, `to` exclusive. */
export const JobFilter = named(
  'JobFilter',
  strict({ ...filterShape, ids: z.array(storeId).max(10_000).exactOptional(), query: query.exactOptional() }),
);
export type JobFilter = z.output<typeof JobFilter>;
export type JobFilterInput = z.input<typeof JobFilter>;

/** The query of the list: a filter and a page. */
export const JobListQuery = strict({
  ...filterShape,
  ids: idList.exactOptional(),
  query: query.exactOptional(),
  ...idPageQuery,
});
export type JobListQuery = z.output<typeof JobListQuery>;

/** The fields whose name differs, in the domain's terms. */
const DOMAIN_NAMES = {
  status: 'statuses',
  unique_key: 'uniqueKey',
  submitted_by: 'submittedBy',
  tag: 'tags',
  worker_id: 'workerId',
  workflow_id: 'workflowId',
  group_id: 'groupId',
  parent_id: 'parentId',
  from: 'createdFrom',
  to: 'createdTo',
  q: 'text',
} as const;

const WIRE_NAMES = Object.fromEntries(Object.entries(DOMAIN_NAMES).map(([wire, domain]) => [domain, wire]));

/** The filter in the domain's terms; `now` resolves times such as "2h ago". */
export function filterFromWire({ query: typed = {}, ...given }: JobFilter, now: number): DomainJobFilter {
  const wire = joined(given, typed);
  const { from, to } = wire;
  const times = { ...(from && { from: resolveInstant(from, now) }), ...(to && { to: resolveInstant(to, now) }) };
  return renamed({ ...wire, ...times }, DOMAIN_NAMES);
}

/** The filter as a caller would send it, with instants for times. */
export function filterToWire({ createdFrom, createdTo, ...filter }: DomainJobFilter): JobFilterInput {
  const times = {
    ...(createdFrom !== undefined && { from: toInstant(createdFrom) }),
    ...(createdTo !== undefined && { to: toInstant(createdTo) }),
  };
  const ids = (value: unknown): unknown =>
    typeof value === 'number' ? String(value) : Array.isArray(value) ? value.map(ids) : value;
  const wire: Record<string, unknown> = renamed({ ...filter, ...times }, WIRE_NAMES);
  return Object.fromEntries(Object.entries(wire).map(([field, value]) => [field, ids(value)]));
}

function renamed(object: object, names: Readonly<Record<string, string>>): Record<string, never> {
  return Object.fromEntries(Object.entries(object).map(([field, value]) => [names[field] ?? field, value as never]));
}

/** Adds the fields of the typed filter. Throws for one that is given twice; tags add up. */
function joined(given: JobFilter, typed: Partial<JobFilter>): JobFilter {
  const twice = Object.keys(typed).find((field) => field !== 'tag' && field in given);
  if (twice !== undefined)
    throw invalid([{ pointer: '/query', detail: `${twice} is given twice: here and as a field` }]);
  const tag = [...(given.tag ?? []), ...(typed.tag ?? [])];
  return { ...typed, ...given, ...(tag.length > 0 && { tag }) };
}
