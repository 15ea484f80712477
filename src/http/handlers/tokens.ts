/** Tokens of the API: make, list, rotate, revoke. */

import { decode } from '../../api/decode.ts';
import { pathOf } from '../../api/route.ts';
import { routes } from '../../api/routes.ts';
import {
  MadeToken,
  RevokedTokens,
  TokenList,
  TokenRotation,
  TokenSubmission,
  tokenName,
  tokenToWire,
} from '../../api/token.ts';
import { handler } from '../handler.ts';

const DEFAULT_OVERLAP_MS = 24 * 3_600_000;

export const tokenHandlers = {
  listTokens: handler(routes.listTokens, {
    summary: 'List the tokens, without the tokens themselves',
    replies: { 200: TokenList },
    async handle({ scheduler, now, signal }) {
      const tokens = await scheduler.tokens(signal);
      return { status: 200, json: { items: tokens.map((token) => tokenToWire(token, now())) } };
    },
  }),

  createToken: handler(routes.createToken, {
    summary: 'Make a token; the reply shows it this once',
    body: TokenSubmission,
    replies: { 201: MadeToken },
    async handle({ scheduler, principal, body, now, signal }) {
      const { name, role, queues = null, expires: lifeMs = null } = body;
      const unique = queues === null ? null : [...new Set(queues)];
      const wanted = { name, role, queues: unique, lifeMs, createdBy: principal.name };
      const { text, ...token } = await scheduler.createToken(wanted, signal);
      const headers = { location: routes.listTokens.path };
      return { status: 201, json: { ...tokenToWire(token, now()), token: text }, headers };
    },
  }),

  rotateToken: handler(routes.rotateToken, {
    summary: 'Make a second token with the same name and rights; the first stays valid for a while',
    body: TokenRotation.optional(),
    replies: { 201: MadeToken },
    async handle({ scheduler, principal, params, body, now, signal }) {
      const name = decode(tokenName, params['name'], '/name');
      const { overlap: overlapMs = DEFAULT_OVERLAP_MS, expires: lifeMs } = body ?? {};
      const rotation = { name, overlapMs, lifeMs, createdBy: principal.name };
      const { text, ...token } = await scheduler.rotateToken(rotation, signal);
      const headers = { location: pathOf(routes.listTokens, {}) };
      return { status: 201, json: { ...tokenToWire(token, now()), token: text }, headers };
    },
  }),

  revokeToken: handler(routes.revokeToken, {
    summary: 'Revoke the valid tokens of a name; every scheduler refuses them within seconds',
    replies: { 200: RevokedTokens },
    async handle({ scheduler, params, signal }) {
      const revoked = await scheduler.revokeToken(decode(tokenName, params['name'], '/name'), signal);
      return { status: 200, json: { revoked } };
    },
  }),
};
