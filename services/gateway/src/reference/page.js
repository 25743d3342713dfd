const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

// The project for which this page sends requests. At first, it is the project that the page's address names. Later, it is the
// project of the entered token. The document itself contains no example, because a made-up project does not exist, and requests
// for it would be refused.
let project = new URLSearchParams(location.search).get('project');

/** A copy of the document that shows the project as the example value of the parameter `ProjectId`. */
function filled(document) {
  const parameter = document.components?.parameters?.ProjectId;
  if (!parameter || !uuid.test(project)) return document;
  const parameters = { ...document.components.parameters, ProjectId: { ...parameter, example: project } };
  return { ...document, components: { ...document.components, parameters } };
}

/** The project of an access token; `undefined` if the text is no access token. */
function projectOf(token) {
  try {
    const [, claims] = token.split('.');
    return JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))).projectId;
  } catch {
    return undefined;
  }
}

const fillProject = () => ({
  statePlugins: {
    spec: { wrapActions: { updateJsonSpec: (original) => (document) => original(filled(document)) } },
    auth: {
      wrapActions: {
        authorize:
          (original, { specActions, specSelectors }) =>
          (given) => {
            original(given);
            const named = projectOf(given.userToken?.value);
            if (!uuid.test(named) || named === project) return;
            project = named;
            specActions.updateJsonSpec(specSelectors.specJson().toJS());
          },
      },
    },
  },
});

// Shows the document of this server. Tokens stay in the page's memory, and are sent only to this server.
window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  // A browser would take seconds to draw all operations at once, so at first they are all closed.
  docExpansion: 'none',
  filter: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  // Without this, Swagger's page would send the document's address to a validator on another server.
  validatorUrl: null,
  plugins: [fillProject],
});
