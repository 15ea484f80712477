import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** `npm run build:ui` makes static files that the scheduler serves; `npm run dev:ui` serves the sources before a running one. */
export default defineConfig(({ command }) => ({
  root: import.meta.dirname,
  // Built files name each other by relative addresses, so that a server may mount them anywhere.
  base: command === 'build' ? './' : '/ui/',
  plugins: [react()],
  build: {
    outDir: join(import.meta.dirname, '..', 'dist-ui'),
    emptyOutDir: true,
    // Everything is a file of its own: the page's policy allows no inline data.
    assetsInlineLimit: 0,
    target: 'es2023',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
  },
  server: { proxy: { '^/(?!ui/|@|src/|node_modules/)': process.env['WORKRON_URL'] ?? 'http://127.0.0.1:8080' } },
}));
