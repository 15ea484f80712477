/** Tokens on the wire. */

import { z } from 'zod';
import { QUEUE_ROLES, type Token as StoredToken, TOKEN_ROLES } from '../core/token.ts';
import { duration, toInstant, toInstantOrNull, wholeNumber, wireId, wireInstant } from './fields.ts';
import { queueName } from './job-submission.ts';
import { itemsOf, named, strict } from './schemas.ts';

/** Names that callers without a stored token have. */
export const RESERVED_NAMES: readonly string[] = ['token', 'local', 'proxy'];

export const tokenName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._@-]{0,127}$/, 'expected a name of a–z, 0–9, ".", "_", "@" and "-", such as ci')
  .refine((name) => !RESERVED_NAMES.includes(name), `${RESERVED_NAMES.join(', ')} cannot be the name of a token`)
  .meta({ examples: ['ci'] });

const life = duration(1_000).nullable();

export const Token = named(
  'Token',
  z.object({
    id: wireId,
    name: z.string(),
    role: z.enum(TOKEN_ROLES),
    queues: z
      .array(z.string())
      .nullable()
      .meta({ description: 'The queues to submit to or to claim from; null: all.' }),
    created_at: wireInstant,
    created_by: z.string(),
    expires_at: wireInstant.nullable(),
    replaced_at: wireInstant.nullable().meta({ description: 'When a rotation made its successor.' }),
    revoked_at: wireInstant.nullable(),
    last_used_at: wireInstant.nullable().meta({ description: 'To the minute.' }),
    valid: z.boolean(),
  }),
);
export type Token = z.output<typeof Token>;

export const TokenList = named('TokenList', itemsOf(Token));

export const TokenSubmission = named(
  'TokenSubmission',
  strict({
    name: tokenName,
    role: z.enum(TOKEN_ROLES),
    queues: z.array(queueName).min(1).max(1_000).nullable().exactOptional().meta({ description: 'null: all queues.' }),
    expires: life.exactOptional().meta({ description: 'How long it is valid; null: until it is revoked.' }),
  }).refine(
    ({ role, queues }) => (queues ?? null) === null || QUEUE_ROLES.includes(role),
    `queues restrict the roles ${QUEUE_ROLES.join(' and ')} only`,
  ),
);
export type TokenSubmissionInput = z.input<typeof TokenSubmission>;

export const TokenRotation = named(
  'TokenRotation',
  strict({
    overlap: duration().exactOptional().meta({ description: 'How long the old token stays valid; 24h by default.' }),
    expires: life
      .exactOptional()
      .meta({ description: 'How long the new one is valid; by default as long as the old one.' }),
  }),
);
export type TokenRotationInput = z.input<typeof TokenRotation>;

export const MadeToken = named(
  'MadeToken',
  Token.extend({ token: z.string().meta({ description: 'The token itself. It is shown this once.' }) }),
);
export type MadeToken = z.output<typeof MadeToken>;

export const RevokedTokens = named('RevokedTokens', z.object({ revoked: wholeNumber(1, 2) }));

export function tokenToWire(token: StoredToken, now: number): Token {
  return {
    id: String(token.id),
    name: token.name,
    role: token.role,
    queues: token.queues === null ? null : [...token.queues],
    created_at: toInstant(token.createdAt),
    created_by: token.createdBy,
    expires_at: toInstantOrNull(token.expiresAt),
    replaced_at: toInstantOrNull(token.replacedAt),
    revoked_at: toInstantOrNull(token.revokedAt),
    last_used_at: toInstantOrNull(token.lastUsedAt),
    valid: token.revokedAt === null && (token.expiresAt === null || token.expiresAt > now),
  };
}
