import { useMutation } from '@tanstack/react-query';
import { useToasts } from '../parts/toasts.tsx';
import { messageOf } from '../words/message-of.ts';

export interface Action<Input, Output> {
  run: (input: Input) => Promise<Output>;
  /** The message to show after success; `null` for none. */
  done: (output: Output, input: Input) => string | null;
  after?: (output: Output, input: Input) => void;
}

/** An action of the user. Shows a message after success, or the server's error. */
export function useAction<Input = void, Output = unknown>({ run, done, after }: Action<Input, Output>) {
  const toasts = useToasts();
  const mutation = useMutation({
    mutationFn: run,
    onSuccess: (output, input) => {
      const text = done(output, input);
      if (text !== null) toasts.show({ kind: 'good', text });
      after?.(output, input);
    },
    onError: (error) => toasts.show({ kind: 'bad', text: messageOf(error) }),
  });
  return { run: mutation.mutate, running: mutation.isPending };
}
