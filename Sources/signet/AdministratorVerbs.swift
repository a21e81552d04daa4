/// What administrators do: `status`, `readers`, `lockout`, `user`, `config`, `doctor`, `pam`.
enum AdministratorVerbs {
    static let all: [Command] = [
        .status, .readers, .lockoutStatus, .lockoutReset, .userAdopt, .userPurge, .configCheck, .doctor,
        .pamCheck, .pamGuard, .pamTry,
    ]
}
