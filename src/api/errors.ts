/** The errors that calls of the API reject with, for those who may only import the API. */

export { type ErrorCode, isWorkronError, WorkronError } from '../core/error.ts';
