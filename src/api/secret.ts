/** Secrets on the wire. Their values are only ever sent to the server, and to workers with a job. */

import { z } from 'zod';
import { MAX_SECRET_LENGTH, MIN_SECRET_LENGTH, type StoredSecret } from '../core/secret.ts';
import { toInstant, wireInstant } from './fields.ts';
import { itemsOf, named, strict } from './schemas.ts';

export const secretName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,127}$/, 'expected a name of a–z, 0–9, ".", "_" and "-", such as db-password')
  .meta({ examples: ['db-password'] });

export const Secret = named(
  'Secret',
  z.object({
    name: z.string(),
    key_id: z.string().meta({ description: 'The key that it is sealed with.' }),
    readable: z.boolean().meta({ description: 'Whether this server has that key.' }),
    created_at: wireInstant,
    updated_at: wireInstant,
  }),
);
export type Secret = z.output<typeof Secret>;

export const SecretList = named('SecretList', itemsOf(Secret));

export const SecretValue = named(
  'SecretValue',
  strict({
    value: z
      .string()
      .min(
        MIN_SECRET_LENGTH,
        `a secret needs at least ${MIN_SECRET_LENGTH} characters: a shorter one could not be masked in output`,
      )
      .max(MAX_SECRET_LENGTH, `a secret has at most ${MAX_SECRET_LENGTH} characters`),
  }),
);
export type SecretValueInput = z.input<typeof SecretValue>;

export const RotatedSecrets = named('RotatedSecrets', z.object({ rotated: z.number() }));

export function secretToWire({
  name,
  keyId,
  createdAt,
  updatedAt,
  isOpen,
}: StoredSecret & { isOpen: boolean }): Secret {
  return { name, key_id: keyId, readable: isOpen, created_at: toInstant(createdAt), updated_at: toInstant(updatedAt) };
}
