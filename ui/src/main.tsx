/** The dashboard. */

import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { logInByLink } from './data/session.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/parts.css';
import './styles/jobs.css';
import './styles/job.css';
import './styles/workflow.css';
import './styles/overview.css';
import './styles/schedules.css';

const root = document.getElementById('root');
if (root === null) throw new Error('There is no #root in the page');
await logInByLink();
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
