import type { Connect, Plugin } from 'vite';

/** The address of the platform, and the project of this application. The page reads them from `kith.json`. */
export interface KithSettings {
  url: string;
  projectId: string;
}

/**
 * Serves `kith.json` from Vite's servers. In production it is a file beside `index.html`, so that one build can be used
 * with any platform.
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
