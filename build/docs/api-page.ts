/** The page about the API, written from the API document: every route with its fields. */

type Schema = Record<string, unknown>;

interface Operation {
  summary: string;
  'x-scope'?: string;
  parameters: { name: string; in: string; required?: boolean; description?: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

interface ApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

export function apiPage(document: unknown): string {
  const { paths, components } = document as ApiDocument;
  const groups = new Map<string, string[]>();
  for (const [path, operations] of Object.entries(paths)) {
    const group = path.split('/')[1] || 'root';
    const texts = groups.get(group) ?? [];
    groups.set(group, texts);
    for (const [method, operation] of Object.entries(operations)) texts.push(operationText(method, path, operation));
  }
  const types = Object.entries(components.schemas).map(([name, schema]) => typeText(name, schema));
  return [
    '# The API',
    'JSON over HTTP. `GET /openapi.json` is the same as a document for programs. Durations are texts such as `"90s"` or `"1h30m"`, or ' +
      'milliseconds, and are read back as milliseconds. Instants are RFC 3339 in UTC. Errors are problem documents with a stable ' +
      '[code](api-errors.md). If the server has a token, send `Authorization: Bearer <token>`; each route names the scope that the ' +
      'token needs.',
    ...[...groups].flatMap(([group, texts]) => [`## ${group}`, ...texts]),
    '## Types',
    ...types,
  ].join('\n\n');
}

function operationText(method: string, path: string, operation: Operation): string {
  const scope = operation['x-scope'];
  const [[type, body] = []] = Object.entries(operation.requestBody?.content ?? {});
  const replies = Object.entries(operation.responses).filter(([status]) => status !== 'default');
  return [
    `### ${method.toUpperCase()} ${path}`,
    `${operation.summary}. ${scope === undefined ? 'Needs no token.' : `Scope: \`${scope}\`.`}`,
    rows(operation.parameters.map((each) => [each.name, typeName(each.schema), each.description ?? ''])),
    body === undefined ? '' : `Body (${type}): ${typeName(body.schema)}`,
    ...replies.map(([status, { content }]) => {
      const [[media, reply] = []] = Object.entries(content ?? {});
      return `Answer ${status}${media === undefined ? '' : ` (${media}): ${typeName(reply?.schema ?? {})}`}`;
    }),
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}

function typeText(name: string, schema: Schema): string {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
  const fields = rows(properties.map(([field, of]) => [field, typeName(of), aboutOf(of)]));
  return [`### ${name}`, aboutOf(schema), fields === '' ? typeName(schema) : fields]
    .filter((text) => text !== '')
    .join('\n\n');
}

function aboutOf(schema: Schema): string {
  return typeof schema['description'] === 'string' ? schema['description'] : '';
}

function rows(cells: readonly (readonly [name: string, type: string, about: string])[]): string {
  if (cells.length === 0) return '';
  const lines = cells.map(([name, type, about]) => `| \`${name}\` | ${type} | ${about.replaceAll('|', '\\|')} |`);
  return ['| field | type | about |', '|---|---|---|', ...lines].join('\n');
}

/** Such as `[Job](#job) or null`. Deep types are named by their kind alone. */
function typeName(schema: Schema): string {
  const reference = schema['$ref'] as string | undefined;
  if (reference !== undefined) {
    const name = reference.split('/').at(-1) ?? '';
    return `[${name}](#${name.toLowerCase()})`;
  }
  const choices = (schema['anyOf'] ?? schema['oneOf']) as Schema[] | undefined;
  if (choices !== undefined) return [...new Set(choices.map(typeName))].join(' or ');
  if (schema['enum'] !== undefined) return (schema['enum'] as string[]).map((value) => `\`${value}\``).join(', ');
  if (schema['const'] !== undefined) return `\`${JSON.stringify(schema['const'])}\``;
  if (schema['type'] === 'array') return `list of ${typeName((schema['items'] ?? {}) as Schema)}`;
  const type = schema['type'] as string | string[] | undefined;
  return type === undefined ? 'any' : [type].flat().join(' or ');
}
