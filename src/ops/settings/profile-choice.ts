/** Which source of an address and a token wins, and where a profile stands among them. */

import { SettingsError } from './error.ts';
import { profileNamed, readProfiles } from './profile.ts';
import type { SettingKey } from './settings.ts';

export interface Given {
  text: string;
  /** How the user spelled it, for messages. */
  from: string;
  /** The lowest rank wins. */
  rank: number;
  /** It is in a file that nobody named. */
  unasked?: boolean;
}

/** The sources of settings, from the most to the least trusted. A profile has the rank of what chose it. */
export const RANKS = { flag: 0, variable: 1, file: 2, profileInUse: 3, folder: 4 } as const;

type GivenSettings = Partial<Record<SettingKey, Given>>;

/**
 * Takes address and token from the profile, unless an address was given by a source that comes first. A profile is a unit: its token
 * goes to its own address only, and its address gets no token of a source that is trusted more than what chose the profile.
 */
export function withProfile(given: GivenSettings, env: Readonly<Record<string, string | undefined>>): GivenSettings {
  const { url, profile: asked } = given;
  // The address on the command line needs no profile, and must work where the profiles cannot be read.
  if (asked?.unasked || (asked === undefined && url !== undefined && url.rank < RANKS.profileInUse)) return given;
  const profiles = readProfiles(env);
  const name = asked?.text ?? profiles.current;
  const rank = asked?.rank ?? RANKS.profileInUse;
  if (name === null || (url !== undefined && url.rank <= rank)) return given;
  const from = `profile ${name}`;
  const profile = profileNamed(profiles, name, asked?.from ?? 'the profile in use');
  const { token, tokenFile, ca, ...rest } = given;
  const own = [token, tokenFile].find((found) => found !== undefined && found.rank <= rank);
  if (asked === undefined && own !== undefined) {
    throw new SettingsError(
      `refusing to send the token of ${own.from} to the address of ${from}, which this call does not name`,
      `--profile ${name} if it is meant for that server, else --url`,
    );
  }
  const chosen: GivenSettings = { ...rest, url: { text: profile.url, from, rank } };
  const ownCa = ca !== undefined && (ca.rank <= rank || profile.ca === null) && !ca.unasked;
  if (ownCa) chosen.ca = ca;
  else if (profile.ca !== null) chosen.ca = { text: profile.ca, from, rank };
  if (own === undefined && profile.tokenFile !== null) {
    return { ...chosen, tokenFile: { text: profile.tokenFile, from, rank } };
  }
  if (token !== undefined && !token.unasked) chosen.token = token;
  if (tokenFile !== undefined && !tokenFile.unasked) chosen.tokenFile = tokenFile;
  return chosen;
}
