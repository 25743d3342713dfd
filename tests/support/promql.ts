import { parser } from '@prometheus-io/lezer-promql';

/** The names in a PromQL expression. */
export interface Named {
  metrics: Set<string>;
  labels: Set<string>;
  /** The labels by which the expression groups its result. If there are any, the result has no other labels. */
  grouping: Set<string>;
}

const strict = parser.configure({ strict: true });

/** Reads the names in an expression. Throws a `SyntaxError` if the expression is not PromQL. */
export function namesIn(expression: string): Named {
  const named: Named = { metrics: new Set(), labels: new Set(), grouping: new Set() };
  // Grafana replaces this variable before it sends the expression.
  const text = expression.replaceAll('$__rate_interval', '5m');
  strict.parse(text).iterate({
    enter(node) {
      const name = text.slice(node.from, node.to);
      if (node.name === 'Identifier') named.metrics.add(name);
      if (node.name === 'LabelName') named.labels.add(name);
      if (node.name === 'LabelName' && node.matchContext(['GroupingLabels'])) named.grouping.add(name);
    },
  });
  return named;
}

/** A rule in a file of alert rules. */
export interface AlertRule {
  name: string;
  expression: string;
  /** The labels that the annotations show. */
  shown: string[];
  /** The annotation `guide`. */
  guide: string | undefined;
}

/** The rules in a file of alert rules. The indentation of an expression shows where it ends. */
export function alertRules(file: string): AlertRule[] {
  const [, ...rules] = file.split(/^ +- alert: /m);
  return rules.map((rule) => {
    const [, , block, line = ''] = /^( +)expr: (?:\|\n((?:\1 +.*\n)+)|(.*)\n)/m.exec(rule) ?? [];
    return {
      name: /^\w+/.exec(rule)?.[0] ?? '',
      expression: block ?? line,
      shown: [...rule.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label),
      guide: /^ +guide: (.*)$/m.exec(rule)?.[1],
    };
  });
}

/** The expressions of a Grafana dashboard: those of its panels and of its variables. */
export function dashboardExpressions(dashboard: {
  panels: { targets?: { expr: string }[] }[];
  templating: { list: { definition?: string }[] };
}): string[] {
  const variables = dashboard.templating.list.flatMap(({ definition }) => definition ?? []);
  return [
    ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    // A variable is defined as label_values(metric, label).
    ...variables.map((text) => text.replace(/^label_values\((\w+), (\w+)\)$/, 'group by ($2) ($1)')),
  ];
}
