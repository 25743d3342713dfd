import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { kithSettings } from './kith-settings.ts';

const { KITH_URL: url, KITH_PROJECT: projectId } = process.env;

export default defineConfig({
  // The base is relative, so that any folder of a site can serve the build.
  base: './',
  plugins: [react(), ...(url && projectId ? [kithSettings({ url, projectId })] : [])],
});
