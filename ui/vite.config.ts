import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** `npm run build:ui` builds static files that the server serves; `npm run dev:ui` serves the sources and proxies the API. */
export default defineConfig(({ command }) => ({
  root: import.meta.dirname,
  // Built files refer to each other by relative addresses, so that a server can mount them anywhere.
  base: command === 'build' ? './' : '/ui/',
  plugins: [react()],
  build: {
    outDir: join(import.meta.dirname, '..', 'dist-ui'),
    emptyOutDir: true,
    // Every asset is a separate file: the page's content security policy allows no inline data.
    assetsInlineLimit: 0,
    target: 'es2023',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
    // One file for what screens share, instead of dozens of small ones.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'shared', test: /[\\/]src[\\/]/, minShareCount: 2 }] } },
    },
  },
  server: { proxy: { '^/(?!ui/|@|src/|node_modules/)': process.env['WORKRON_URL'] ?? 'http://127.0.0.1:8080' } },
}));
