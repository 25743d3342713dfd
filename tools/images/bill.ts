import type { Image } from './image.ts';

/**
 * The parts of a bill of materials (CycloneDX) that are needed to reduce the bill. A component contains the components that npm
 * has put inside its folder.
 */
export interface Bill {
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}

interface Component {
  type: string;
  name: string;
  'bom-ref': string;
  properties?: { name: string; value: string }[];
  components?: Component[];
}

/** Reduces the bill of the whole lock file to the packages of an image. */
export function billOf(whole: Bill, { name, lock }: Image): Bill {
  const refs = new Set<string>();
  const cut = (components: Component[]): Component[] =>
    components.filter(isHeld).map((one) => {
      refs.add(one['bom-ref']);
      return one.components ? { ...one, components: cut(one.components) } : one;
    });
  const isHeld = ({ properties = [] }: Component) =>
    properties.some((one) => one.name === 'cdx:npm:package:path' && one.value in lock.packages);
  const components = cut(whole.components);
  const {
    purl: _,
    properties: _properties,
    ...component
  } = whole.metadata.component as Component & { purl?: string };
  refs.add(component['bom-ref']);
  const dependencies = whole.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({
      ref,
      ...(dependsOn && { dependsOn: dependsOn.filter((one) => refs.has(one)) }),
    }));
  const metadata = {
    ...whole.metadata,
    component: { ...component, type: 'container', name: `kith-${name}` },
  };
  return { ...whole, metadata, components, dependencies };
}
