/** The errors that calls of the API reject with, for the dashboard, which may import src/api only. */

export { type ErrorCode, isWorkronError, WorkronError } from '../core/error.ts';
