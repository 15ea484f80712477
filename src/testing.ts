/** For tests of applications: jobs run inline, step by step, and time is what the test says. */

export { openTestKit, TestKit, type TestKitOptions } from './library/test-kit.ts';
