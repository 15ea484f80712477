import { useMutation } from '@tanstack/react-query';
import { useToasts } from '../parts/toasts.tsx';
import { messageOf } from '../words/message-of.ts';

export interface Action<Input, Output> {
  run: (input: Input) => Promise<Output>;
  /** What to tell once it has happened; `null`: nothing. */
  done: (output: Output, input: Input) => string | null;
  after?: (output: Output, input: Input) => void;
}

/** Something a person does. It says what happened, or fails visibly with the server's own words. */
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
