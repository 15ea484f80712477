/** Where the handler of pay.ts writes. */

/** In the database of the installation. A payment that is made twice has two rows. */
export const PAYMENTS = 'chaos_payment';

const VARIABLE = 'CHAOS_PAY_TO';

interface PayTo {
  url: string | null;
  file: string | null;
}

export function payToVariable(dbUrl: string): Record<string, string> {
  return { [VARIABLE]: dbUrl };
}

export function payTo(): PayTo {
  const given = process.env[VARIABLE] ?? '';
  return given.startsWith('sqlite:') ? { url: null, file: given.slice('sqlite:'.length) } : { url: given, file: null };
}
