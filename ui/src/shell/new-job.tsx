import { useLocation } from 'wouter';
import { Dialog } from '../parts/dialog.tsx';
import { JobForm } from './job-form.tsx';

export function NewJob({ onClose }: { onClose: () => void }) {
  const [, go] = useLocation();
  return (
    <Dialog title="New job" onClose={onClose} wide>
      <JobForm
        start={{}}
        verb="Submit"
        onDone={(job) => {
          onClose();
          go(`/jobs/${job.id}`);
        }}
      />
    </Dialog>
  );
}
