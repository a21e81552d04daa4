/// What administrators do: `status`, `readers`, `lockout`, `enclave`, `user`, `config`, `doctor`, `pam`.
enum AdministratorVerbs {
    static let all: [Command] = [
        .status, .readers, .lockoutStatus, .lockoutReset, .enclaveStatus, .enclaveSetup, .enclaveMigrate,
        .enclaveForget, .enclaveAccept, .enclaveReset, .userAdopt, .userPurge, .configCheck, .doctor,
        .pamCheck, .pamGuard, .pamTry,
    ]
}
