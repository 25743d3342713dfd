/** The metrics and labels that a PromQL expression names. */
export interface Named {
  metrics: Set<string>;
  labels: Set<string>;
}

const words = new Set(['and', 'or', 'unless', 'bool', 'offset', 'group_left', 'group_right', 'inf', 'nan']);

/** Reads the names in an expression. This is not a parser: it does not notice text that is not PromQL. */
export function namesIn(expression: string): Named {
  const named: Named = { metrics: new Set(), labels: new Set() };
  const addLabels = (list: string) => {
    for (const [label] of list.matchAll(/[a-zA-Z_]\w*/g)) named.labels.add(label);
  };
  const rest = expression
    .replaceAll(/"[^"]*"/g, '""')
    .replaceAll(
      /\b(by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g,
      (_, _word, list: string) => {
        addLabels(list);
        return ' ';
      },
    )
    .replaceAll(/\{([^}]*)\}/g, (_, list: string) => {
      addLabels(list);
      return ' ';
    })
    .replaceAll(/\[[^\]]*\]/g, ' ');
  for (const [, name = ''] of rest.matchAll(/(?<![\w$.])([a-zA-Z_:][\w:]*)(?!\w*\s*\()/g)) {
    if (!words.has(name)) named.metrics.add(name);
  }
  return named;
}

/** The expressions in a file of alert rules. The indentation of an expression shows where it ends. */
export function alertExpressions(rules: string): string[] {
  return [...rules.matchAll(/^( +)expr: (?:\|\n((?:\1 +.*\n)+)|(.*)\n)/gm)].map(
    ([, , block, line]) => block ?? line ?? '',
  );
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
    ...variables.map((text) => text.replace(/^label_values\((\w+), (\w+)\)$/, '$1 by ($2)')),
  ];
}
