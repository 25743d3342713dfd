// Checks libs/openapi/openapi.json with Spectral (its OpenAPI rules and OWASP's rules) and Redocly. Every finding is a failure,
// even a warning.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { documentFile } from '@kith/openapi';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import owaspRules from '@stoplight/spectral-owasp-ruleset';
import spectralRules from '@stoplight/spectral-rulesets';

type Rules = Readonly<Record<string, object>>;
const owasp = (owaspRules as unknown as { rules: Rules }).rules;
const limited = '$.paths[?(@property != "/.well-known/jwks.json")]';
const withoutMailLinks = '$.paths[?(!@property.match(/verify-email-link$/))]';
const counted = '$.paths[?(!@property.match(/^.(.well-known|admin)./))]';

/**
 * Rules that are changed or turned off, because the original rules do not fit here. If a part of a rule fits, this part is still
 * checked.
 */
const ours: Record<string, unknown> = {
  // Redocly's no-invalid-media-type-examples does the same check. It checks each component only once, and not again at each use
  // of the component.
  'oas3-valid-media-example': 'off',
  // Names and messages are free text in any writing system, so no pattern can tell good text from bad.
  'owasp:api4:2023-string-restricted': 'off',
  // The original rule expects that every operation documents the status 401. Here, only operations that require a token have to
  // document it.
  'owasp:api8:2023-define-error-responses-401': {
    ...owasp['owasp:api8:2023-define-error-responses-401'],
    given: [
      '$.paths[*][?(@ && @.security && @.security.length === 1 && (@.security[0].userToken || @.security[0].operatorToken))].responses',
      '$.paths[*][?(@ && @.security && @.security.length === 2 && @.security[1].serverKey)].responses',
    ],
  },
  // The key set has no limit, because verifiers of every project fetch it. For operators, only failed requests are limited. All
  // other operations send both the `RateLimit` and the `X-RateLimit` headers, but the original rule expects only one of the two
  // kinds.
  'owasp:api4:2023-rate-limit': {
    ...owasp['owasp:api4:2023-rate-limit'],
    given: `${counted}..responses[?(@property.match(/^(2|4)/))].headers`,
    // biome-ignore lint/suspicious/noThenProperty: it is Spectral's word.
    then: [
      { field: 'RateLimit', function: isThere() },
      { field: 'X-RateLimit-Limit', function: isThere() },
    ],
  },
  'owasp:api4:2023-rate-limit-responses-429': {
    ...owasp['owasp:api4:2023-rate-limit-responses-429'],
    given: `${limited}..responses`,
  },
  // Integers with a default are page numbers and page sizes. They need no maximum here, because a value above the maximum counts as
  // the maximum.
  ...Object.fromEntries(
    ['owasp:api4:2023-integer-limit', 'owasp:api4:2023-integer-limit-legacy'].map((rule) => [
      rule,
      { ...owasp[rule], given: '$..[?(@ && @.type=="integer" && @.default === undefined)]' },
    ]),
  ),
  // The link in a mail holds a token, which works once and for a limited time. The link also holds the address of the next page.
  // This address has to be at one of the project's own origins, and the server itself never requests it.
  'owasp:api2:2023-no-credentials-in-url': {
    ...owasp['owasp:api2:2023-no-credentials-in-url'],
    given: `${withoutMailLinks}..parameters[?(@ && @.in && @.in.match(/query|path/))].name`,
  },
  'owasp:api7:2023-concerning-url-parameter': {
    ...owasp['owasp:api7:2023-concerning-url-parameter'],
    given: `${withoutMailLinks}[*].parameters[*].name`,
  },
  // The arrays of an export have no bound, because an export contains all data of a user. So the rule leaves out exports. All
  // other arrays must have a bound.
  'owasp:api4:2023-array-limit': {
    ...owasp['owasp:api4:2023-array-limit'],
    given: [
      '$.components..[?(@ && @.type=="array")]',
      '$.paths[?(!@property.match(/export$/))]..[?(@ && @.type=="array")]',
    ],
  },
};

const source = readFileSync(documentFile, 'utf8');
const found = [...(await spectral()), ...(await redocly())];
for (const line of found) console.error(line);
if (found.length > 0) process.exit(1);

async function spectral(): Promise<string[]> {
  const linter = new spectralCore.Spectral();
  const extended = [
    [spectralRules.oas, 'recommended'],
    [owaspRules, 'recommended'],
  ];
  linter.setRuleset({ extends: extended, rules: ours } as never);
  const results = await linter.run(source);
  return results.map(({ code, message, path }) => `${code}: ${message} (${path.join('.')})`);
}

async function redocly(): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source, absoluteRef: fileURLToPath(documentFile), config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`);
}

/** Returns the function of Spectral with which an OWASP rule checks that a field exists. */
function isThere(): unknown {
  const rule = owasp['owasp:api4:2023-rate-limit-responses-429'] as { then: { function: unknown }[] };
  return rule.then[0]?.function;
}
