// Shows the document of this server. Tokens stay in the page's memory, and go to this server alone.
window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  filter: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  // Swagger's validator would be a call to another server.
  validatorUrl: null,
});
