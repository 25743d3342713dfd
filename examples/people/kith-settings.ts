import type { Connect, Plugin } from 'vite';

/** The platform's address, and this application's project. The page reads them from `kith.json`. */
export interface KithSettings {
  url: string;
  projectId: string;
}

/**
 * Serves `kith.json` from Vite's servers. In production, `kith.json` is a file beside `index.html`. So the same build works with
 * any platform.
 */
export function kithSettings(settings: KithSettings): Plugin {
  const answer: Connect.NextHandleFunction = (_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(settings));
  };
  return {
    name: 'kith-settings',
    configureServer: ({ middlewares }) => void middlewares.use('/kith.json', answer),
    configurePreviewServer: ({ middlewares }) => void middlewares.use('/kith.json', answer),
  };
}
