/** The pages of the documentation, in the order of its menu. Others follow under "More". */

interface Section {
  title: string;
  /** Names of files in `docs`, without `.md`. */
  pages: readonly string[];
}

/** The front page is the README. */
export const FRONT = 'index';

/** Made from the API document. */
export const API = 'api';

export const SECTIONS: readonly Section[] = [
  { title: 'Start', pages: [FRONT, 'install', 'tutorial', 'recipes', 'coming-from', 'comparison'] },
  {
    title: 'Use',
    pages: [
      'workflows',
      'unique',
      'checkpoints',
      'capacity',
      'schedules',
      'secrets',
      'notify',
      'dashboard',
      'python',
      'library',
      'testing',
    ],
  },
  {
    title: 'Run',
    pages: ['operations', 'security', 'reverse-proxy', 'scaling', 'reliability', 'performance', 'performance-notes'],
  },
  {
    title: 'Reference',
    pages: ['cli', 'configuration', API, 'api-errors', 'library-reference', 'worker-protocol', 'glossary'],
  },
  { title: 'Inside', pages: ['architecture', 'dependencies'] },
];
