import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { kithSettings } from './kith-settings.ts';

const { KITH_URL: url, KITH_PROJECT: projectId } = process.env;

export default defineConfig({
  // The base is relative, so that the build can be served from any folder of a site.
  base: './',
  plugins: [react(), ...(url && projectId ? [kithSettings({ url, projectId })] : [])],
});
