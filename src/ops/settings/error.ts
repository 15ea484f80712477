/** A setting is unknown, malformed, or contradicts another. The message names it as the user spelled it. */
export class SettingsError extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.name = 'SettingsError';
    this.hint = hint;
  }
}
