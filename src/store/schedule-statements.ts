/** The statements about schedules that both SQL stores have (`statements.ts`). */

export const SCHEDULE_TWINS = {
  unfinishedSteps: 'Steps of workflows that are not done.',
  setLines: 'Records the lines that jobs run for.',
  setWorkflowLine: 'Records the line that a workflow runs for.',
} as const;
