/** The reasons of jobs that did not run, in words. The others are told by the error of the job. */
const WORDS: Readonly<Record<string, string>> = {
  upstream_failed: 'an upstream job failed',
  condition: 'its condition was not met',
  limit: 'its limit was full',
};

/** The reason itself where there are no other words for it. */
export function reasonText(reason: string): string {
  return WORDS[reason] ?? reason;
}
