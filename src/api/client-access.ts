/** The part of the client about access: tokens, and the audit. */

import type { AuditPage, AuditQueryInput } from './audit.ts';
import type { CallOptions } from './client-requests.ts';
import { clientRoutes as routes } from './client-routes.ts';
import type { HttpClient } from './http-client.ts';
import type { MadeToken, Token, TokenRotationInput, TokenSubmissionInput } from './token.ts';

export class AccessClient {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  async tokens(options: CallOptions = {}): Promise<Token[]> {
    return (await this.#http.json(routes.listTokens, options)).items;
  }

  /** The reply contains the token itself, this once. */
  createToken(token: TokenSubmissionInput, options: CallOptions = {}): Promise<MadeToken> {
    return this.#http.json(routes.createToken, { body: token, ...options });
  }

  /** Makes a second token with the same name and rights; the first stays valid for a while. */
  rotateToken(name: string, rotation: TokenRotationInput = {}, options: CallOptions = {}): Promise<MadeToken> {
    return this.#http.json(routes.rotateToken, { params: { name }, body: rotation, ...options });
  }

  /** Who changed what, newest first. */
  audit(
    query: Omit<AuditQueryInput, 'limit'> & { limit?: number } = {},
    options: CallOptions = {},
  ): Promise<AuditPage> {
    return this.#http.json(routes.listAudit, { query, ...options });
  }

  /** Revokes the valid tokens of a name and returns their number. */
  async revokeToken(name: string, options: CallOptions = {}): Promise<number> {
    return (await this.#http.json(routes.revokeToken, { params: { name }, ...options })).revoked;
  }
}
