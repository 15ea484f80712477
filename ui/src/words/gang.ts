import type { Job } from '../../../src/api/job.ts';

/** The address of the list of a gang's members. */
export function gangHref(id: string): string {
  return `/jobs?tag=${encodeURIComponent(`gang:${id}`)}`;
}

/** The tags that somebody gave the job: without the one that the server gives to the members of a gang. */
export function givenTags({ tags, gang }: Pick<Job, 'tags' | 'gang'>): string[] {
  return gang === null ? tags : tags.filter((tag) => tag !== `gang:${gang.id}`);
}
