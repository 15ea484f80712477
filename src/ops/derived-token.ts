import { createHmac } from 'node:crypto';

/**
 * A token that allows one request, such as `POST /workers/7/gone`, and shows nothing of the token that it is made from. For
 * a process that has to send that request, and shares its user with commands.
 */
export function derivedToken(token: string, request: string): string {
  return createHmac('sha256', token).update(request).digest('base64url');
}
