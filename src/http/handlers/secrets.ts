/** Secrets: set, list, delete, rotate. No reply contains a value. */

import { decode } from '../../api/decode.ts';
import { routes } from '../../api/routes.ts';
import { noFields, nothing } from '../../api/schemas.ts';
import { RotatedSecrets, Secret, SecretList, SecretValue, secretName, secretToWire } from '../../api/secret.ts';
import { handler } from '../handler.ts';

export const secretHandlers = {
  listSecrets: handler(routes.listSecrets, {
    summary: 'List the secrets, without their values',
    replies: { 200: SecretList },
    async handle({ scheduler, signal }) {
      return { status: 200, json: { items: (await scheduler.secrets(signal)).map(secretToWire) } };
    },
  }),

  setSecret: handler(routes.setSecret, {
    summary: 'Set a secret, which jobs name in their environment; its value is never shown again',
    body: SecretValue,
    replies: { 200: Secret },
    async handle({ scheduler, params, body, signal }) {
      const name = decode(secretName, params['name'], '/name');
      const secret = await scheduler.setSecret(name, body.value, signal);
      return { status: 200, json: secretToWire({ ...secret, isOpen: true }) };
    },
  }),

  deleteSecret: handler(routes.deleteSecret, {
    summary: 'Delete a secret; jobs that name it fail from then on',
    replies: { 200: noFields },
    async handle({ scheduler, params, signal }) {
      await scheduler.deleteSecret(decode(secretName, params['name'], '/name'), signal);
      return { status: 200, json: {} };
    },
  }),

  rotateSecrets: handler(routes.rotateSecrets, {
    summary: 'Seal all secrets with the present key, so that older keys can be removed',
    body: nothing.optional(),
    replies: { 200: RotatedSecrets },
    async handle({ scheduler, signal }) {
      return { status: 200, json: { rotated: await scheduler.rotateSecrets(signal) } };
    },
  }),
};
