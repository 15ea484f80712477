/**
 * Ids and instants of creation rise together, but for so long at most: a statement reads the clock before it is given ids, and
 * the clock of a server may be set back a little. Whoever looks for jobs of some time by their ids looks so much further.
 */
export const CREATION_SLACK_MS = 600_000;
